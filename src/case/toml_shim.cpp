/* toml_shim.cpp: toml++ behind the C interface of toml_shim.h. */
#include "toml_shim.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <new>
#include <sstream>
#include <string>
#include <vector>

namespace
{

bn_toml_place place_of(const toml::source_region &region)
{
    bn_toml_place place = { region.begin.line, region.begin.column, 0 };
    if (region.end.line == region.begin.line && region.end.column > region.begin.column)
        place.width = region.end.column - region.begin.column;
    return place;
}

char *copy_text(std::string_view text)
{
    char *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (!copy)
        throw std::bad_alloc();
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

bool is_bare(std::string_view name)
{
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

/* Frees the tree when copying it stops half-way. */
struct Owner {
    bn_toml *root;
    ~Owner() { bn_toml_free(&root); }
};

bn_toml *new_node()
{
    bn_toml *node = static_cast<bn_toml *>(std::calloc(1, sizeof(bn_toml)));
    if (!node)
        throw std::bad_alloc();
    return node;
}

void copy_value(bn_toml &to, const toml::node &from, int level);

void copy_table(bn_toml &to, const toml::table &from, int level)
{
    struct Entry {
        const toml::key *key;
        const toml::node *value;
    };
    std::vector<Entry> entries;
    for (auto &&[key, value] : from)
        entries.push_back({ &key, &value });
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        const toml::source_position p = a.key->source().begin, q = b.key->source().begin;
        return p.line != q.line ? p.line < q.line : p.column < q.column;
    });
    bn_toml **link = &to.child;
    for (const Entry &entry : entries) {
        bn_toml *node = *link = new_node();
        link = &node->next;
        node->name = copy_text(entry.key->str());
        node->bare = is_bare(entry.key->str());
        node->key = place_of(entry.key->source());
        copy_value(*node, *entry.value, level);
    }
}

void copy_array(bn_toml &to, const toml::array &from, int level)
{
    to.count = from.size();
    bn_toml **link = &to.child;
    const size_t most = !from.empty() && from[0].is_table() ? BN_TOML_ITEMS : BN_TOML_ELEMENTS;
    for (size_t i = 0; i < from.size() && i < most; i++) {
        bn_toml *node = *link = new_node();
        link = &node->next;
        copy_value(*node, from[i], level);
    }
}

/* `level`: of the table or array that a table or array `from` would be, the root being 0. */
void copy_value(bn_toml &to, const toml::node &from, int level)
{
    to.value = place_of(from.source());
    if (const toml::table *table = from.as_table()) {
        to.type = BN_TOML_TABLE;
        if (level < BN_TOML_LEVELS)
            copy_table(to, *table, level + 1);
    } else if (const toml::array *array = from.as_array()) {
        to.type = BN_TOML_ARRAY;
        if (level < BN_TOML_LEVELS)
            copy_array(to, *array, level + 1);
    } else if (const auto *text = from.as_string()) {
        to.type = BN_TOML_TEXT;
        to.text = copy_text(text->get());
        to.bytes = text->get().size();
    } else if (const auto *integer = from.as_integer()) {
        to.type = BN_TOML_INT;
        to.integer = integer->get();
    } else if (const auto *real = from.as_floating_point()) {
        to.type = BN_TOML_REAL;
        to.real = real->get();
    } else if (const auto *boolean = from.as_boolean()) {
        to.type = BN_TOML_BOOL;
        to.boolean = boolean->get();
    } else {
        to.type = BN_TOML_DATE;
    }
}

void set_error(bn_toml_error &error, const bn_toml_place &place, std::string_view message)
{
    const size_t bytes = std::min(message.size(), sizeof error.message - 1);
    std::memcpy(error.message, message.data(), bytes);
    error.message[bytes] = '\0';
    error.place = place;
}

/* The message of toml++, in plainer words where it is frequent. */
std::string_view plain_words(std::string_view message)
{
    static const struct {
        std::string_view part, words;
    } known[] = {
        { "unescaped control characters", "a text is not closed before its line ends, or holds a control character" },
        { "could not determine value type", "no value that TOML knows; a text stands in quotes" },
        { "invalid utf-8", "the bytes here are no UTF-8" },
        { "TOML_MAX_NESTED_VALUES", "arrays and tables are nested too deeply" },
    };
    for (const auto &entry : known)
        if (message.find(entry.part) != message.npos)
            return entry.words;
    const std::string_view noise = "Error while ";
    return message.substr(0, noise.size()) == noise ? message.substr(noise.size()) : message;
}

/* Finds a line with more dots between names than a key can have. Runs of dots, as in a comment, count once. */
bool too_many_dots(std::string_view text, bn_toml_error &error)
{
    size_t line = 1, dots = 0;
    char previous = '\n';
    for (char c : text) {
        if (c == '\n') {
            line++;
            dots = 0;
        } else if (c == '.' && previous != '.' && ++dots > BN_TOML_DOTS) {
            set_error(error, { line, 1, 0 },
                      "more than " + std::to_string(static_cast<int>(BN_TOML_DOTS)) +
                          " dots in one line; break it into shorter ones");
            return true;
        }
        previous = c;
    }
    return false;
}

} // namespace

extern "C" bn_toml_status bn_toml_parse(const char *text, size_t bytes, bn_toml **root, bn_toml_error *error)
{
    *root = nullptr;
    try {
        const std::string_view view(text, bytes);
        if (too_many_dots(view, *error))
            return BN_TOML_SYNTAX;
        const toml::table table = toml::parse(view);
        Owner owner = { new_node() };
        copy_value(*owner.root, table, 0);
        std::swap(*root, owner.root);
        return BN_TOML_OK;
    } catch (const toml::parse_error &e) {
        set_error(*error, { e.source().begin.line, e.source().begin.column, 1 }, plain_words(e.description()));
        return BN_TOML_SYNTAX;
    } catch (...) {
        return BN_TOML_NO_MEMORY; /* toml++ and the standard library throw nothing else here */
    }
}

extern "C" void bn_toml_free(bn_toml **root)
{
    for (bn_toml *node = *root; node;) {
        bn_toml *next = node->next;
        bn_toml_free(&node->child); /* at most BN_TOML_LEVELS deep */
        std::free(node->name);
        std::free(node->text);
        std::free(node);
        node = next;
    }
    *root = nullptr;
}

extern "C" void bn_toml_format(double value, char text[BN_TOML_NUMBER_BYTES])
{
    const std::to_chars_result end = std::to_chars(text, text + BN_TOML_NUMBER_BYTES - 1, value);
    *end.ptr = '\0';
    /* 1e+06 and 1e-09 as 1e6 and 1e-9 */
    if (char *from = std::strchr(text, 'e')) {
        char *to = ++from;
        if (*from == '-')
            *to++ = *from;
        from += *from == '-' || *from == '+';
        from += std::strspn(from, "0");
        std::memmove(to, from, std::strlen(from) + 1);
    }
}

extern "C" bool bn_toml_number(const char *text, double *value)
{
    try {
        std::istringstream stream(text);
        stream.imbue(std::locale::classic());
        return static_cast<bool>(stream >> std::noskipws >> *value) && stream.peek() == std::char_traits<char>::eof();
    } catch (...) {
        return false;
    }
}
