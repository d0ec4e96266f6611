/* flood.c: shallow water on hexagons or squares, through the storeys of a building (docs/flood.md): the case's keys,
 * the plan, the table. */
#include "flood_plans.h"

#include <math.h>
#include <stdio.h>

/* A key is read in one piece. */
/* clang-format off */
#define BORDER(at)                                                                                                  \
    { .name = at ".kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_BORDERS), .def_text = "wall",           \
      .help = "what the side is: closed, open to waves that leave, a discharge that enters, a level outside, a slope "\
              "that water leaves by at normal depth" },                                                             \
    { .name = at ".discharge", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 0, .min = 0, .max = 1e6,               \
      .only = at ".kind=inflow", .help = "of an inflow, per metre of the side" },                                   \
    { .name = at ".level", .type = BN_KEY_REAL, .unit = "m", .min = -1e6, .max = 1e6,                               \
      .only = at ".kind=level", .help = "height of the water outside, of a side with a level" },                    \
    { .name = at ".slope", .type = BN_KEY_REAL, .def = 0.001, .max = 1, .above = true,                              \
      .only = at ".kind=normal", .help = "of the ground behind the side, by which water leaves at normal depth" }

#define LAYOUT_STUDY "it repeats a published experiment; binnacle bench --suite seed-002 runs it"

static const bn_key schema[] = {
    { .name = "grid.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_CELL_KINDS), .def_text = "hexagon",
      .help = "cells: regular hexagons in rows along x, or squares" },
    { .name = "grid.cells", .type = BN_KEY_INT, .count = 2, .def = 100, .min = 2, .max = 65536, .inferred = true,
      .help = "cells along x and rows along y" },
    { .name = "grid.spacing", .type = BN_KEY_REAL, .unit = "m", .def = 0.1, .max = 1e6, .above = true,
      .help = "distance between the centres of neighbours" },
    { .name = "grid.origin", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8,
      .inferred = true,
      .help = "coordinates of the lower left corner, of the pictures of plans too; polygons bring their own" },
    { .name = "grid.periodic_x", .type = BN_KEY_BOOL, .help = "the right side is followed by the left one" },
    { .name = "grid.periodic_y", .type = BN_KEY_BOOL, .help = "the top is followed by the bottom" },
    { .name = "fluid.gravity", .type = BN_KEY_REAL, .unit = "m s-2", .def = 9.81, .max = 1e6, .above = true,
      .help = "acceleration of free fall" },
    { .name = "fluid.manning", .type = BN_KEY_REAL, .unit = "", .def = 0, .min = 0, .max = 10,
      .help = "Manning's roughness in s m^(-1/3); 0: no friction. Concrete has 0.013" },
    { .name = "bed.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_BEDS),
      .def_text = "flat",
      .help = "the ground: plane; inclined; hill with ripples in the middle; random; bump of a flume; paraboloid; "
              "channel of MacDonald's type; heights from a file, of the lowest storey" },
    { .name = "bed.file", .type = BN_KEY_TEXT, .def_text = "",
      .only = "bed.kind=terrain",
      .help = "of a terrain: GeoTIFF (.tif) or ESRI ASCII grid (.asc), in metres; relative to the case file" },
    { .name = "bed.shift", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8,
      .only = "bed.kind=terrain",
      .help = "of a terrain: its coordinates at x = y = 0 of the case" },
    { .name = "bed.scale", .type = BN_KEY_REAL, .def = 1, .min = -1e6, .max = 1e6,
      .only = "bed.kind=terrain",
      .help = "of a terrain: metres that a unit of its heights is" },
    { .name = "bed.offset", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = -1e5, .max = 1e5,
      .only = "bed.kind=terrain",
      .help = "of a terrain: added to its heights; small heights keep more digits in single precision" },
    { .name = "bed.nodata", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_NODATA), .def_text = "reject",
      .only = "bed.kind=terrain",
      .help = "of a terrain: what cells without data are" },
    { .name = "bed.slope", .type = BN_KEY_REAL, .count = 2, .def = 0, .min = -100, .max = 100,
      .only = "bed.kind=slope",
      .help = "of an inclined ground: rise along x and y" },
    { .name = "bed.amplitude", .type = BN_KEY_REAL, .unit = "m", .def = 1, .min = 0, .max = 1e6,
      .only = "bed.kind=random",
      .help = "of a random ground: heights lie between 0 and this" },
    { .name = "bed.radius", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .only = "bed.kind=bowl",
      .help = "of the paraboloid, where it has the height 0" },
    { .name = "bed.depth", .type = BN_KEY_REAL, .unit = "m", .def = 0.1, .max = 1e6, .above = true,
      .only = "bed.kind=bowl",
      .help = "of the paraboloid in the middle" },
    { .name = "bed.cover", .type = BN_KEY_TEXT, .def_text = "",
      .help = "numbers of the land cover by place, to which [[cover]] gives roughness and soil: GeoTIFF or ESRI ASCII "
              "grid, in the coordinates of a terrain; cells take the number of the pixel in which their middle lies" },
    { .name = "cover.code", .type = BN_KEY_INT, .def = 0, .min = -1e6, .max = 1e6, .list = true,
      .help = "number in bed.cover; places with other numbers have fluid.manning and [soil]" },
    { .name = "cover.manning", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 10, .list = true,
      .help = "Manning's roughness there, in s m^(-1/3)" },
    { .name = "cover.conductivity", .type = BN_KEY_REAL, .unit = "m s-1", .def = 0, .min = 0, .max = 1, .list = true,
      .help = "hydraulic conductivity of the wet soil there; 0: nothing soaks in" },
    { .name = "cover.suction", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 100, .list = true,
      .help = "suction head at the wetting front there" },
    { .name = "cover.deficit", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1, .list = true,
      .help = "moisture that the soil lacks there, as a part of its volume" },
    { .name = "soil.conductivity", .type = BN_KEY_REAL, .unit = "m s-1", .def = 0, .min = 0, .max = 1,
      .help = "hydraulic conductivity of the wet soil, such as \"10 mm/h\"; 0: nothing soaks in" },
    { .name = "soil.suction", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 100,
      .help = "suction head at the wetting front (Green and Ampt); 0: the soil takes water at its conductivity" },
    { .name = "soil.deficit", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "moisture that the soil lacks at the start, as a part of its volume" },
    { .name = "rain.rate", .type = BN_KEY_REAL, .unit = "m s-1", .def = 0, .min = 0, .max = 1,
      .help = "depth of rain in a time, such as \"30 mm/h\", unless a history says otherwise; walls get none" },
    { .name = "rain.share", .type = BN_KEY_TEXT, .def_text = "",
      .help = "how much of the rate falls by place: GeoTIFF or ESRI ASCII grid, in the coordinates of a terrain; no "
              "rain falls where it has no data" },
    { .name = "initial.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_STARTS),
      .def_text = "circle",
      .help = "no water; a level; a depth on the floor of a storey; levels on two sides of a dam; inside and "
              "outside of a circle; Thacker's waves in a paraboloid" },
    { .name = "initial.level", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = -1e6, .max = 1e6,
      .only = "initial.kind=level|depth",
      .help = "height of the water, or its depth" },
    { .name = "initial.storey", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 256,
      .only = "initial.kind=level|depth",
      .help = "with water of that level or depth; 0: all" },
    { .name = "initial.levels", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 1, .min = -1e6, .max = 1e6,
      .only = "initial.kind=dam|circle",
      .help = "heights before and behind the dam (along +x or +y), or inside and outside of the circle" },
    { .name = "initial.axis", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_AXES), .def_text = "x",
      .only = "initial.kind=dam",
      .help = "the dam stands across this axis, in the middle" },
    { .name = "initial.radius", .type = BN_KEY_REAL, .unit = "m", .def = 2.5, .max = 1e6, .above = true,
      .only = "initial.kind=circle",
      .help = "of the circle, whose centre is the middle" },
    { .name = "initial.shift", .type = BN_KEY_REAL, .unit = "m", .def = 0.5, .max = 1e6, .above = true,
      .only = "initial.kind=planar|radial",
      .help = "of Thacker's waves: how far the water is off the middle (planar), or the radius r0 (radial)" },
    BORDER("boundary.left"),
    BORDER("boundary.right"),
    BORDER("boundary.bottom"),
    BORDER("boundary.top"),
    { .name = "plan.pixel", .type = BN_KEY_REAL, .unit = "m", .def = 0.1, .max = 1e3, .above = true,
      .help = "metres that a pixel of the plans is long" },
    { .name = "storey.plan", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .help = "the floor: a picture (PNG) or polygons (.wkt: where people can walk; .csv: with columns `meaning` and "
              "`wkt`), as the legend says; relative to the case file. Or the WKT itself, "
              "\"POLYGON ((0 0, 40 0, ...))\", whose holes are walls. Empty: an open floor" },
    { .name = "storey.height", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = -1e4, .max = 1e4, .list = true,
      .help = "of the floor; storeys follow from the lowest to the highest" },
    { .name = "legend.colour", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .help = "of pixels, as \"#rrggbb\"; without any legend white is floor and black is wall" },
    { .name = "legend.name", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .help = "of polygons: what stands in the column `meaning`; the words for kinds need no legend" },
    { .name = "legend.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_MEANINGS),
      .def_text = "floor", .list = true,
      .help = "what colour and name mean; water leaves by stairs and openings to the storey below" },
    { .name = "legend.open", .type = BN_KEY_BOOL, .def = 1, .list = true, .only = "legend.kind=door",
      .help = "of a door" },
    { .name = "legend.rate", .type = BN_KEY_REAL, .unit = "m3 s-1", .def = 0, .min = 0, .max = 1e6, .list = true,
      .only = "legend.kind=source|drain",
      .help = "of a source, for each patch; the most that a patch of a drain takes" },
    { .name = "legend.width", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e4, .above = true, .list = true,
      .only = "legend.kind=stair",
      .help = "of a stair: length of the edge over which water falls, for each patch" },
    { .name = "legend.coefficient", .type = BN_KEY_REAL, .def = 0.6, .max = 1, .above = true, .list = true,
      .only = "legend.kind=opening",
      .help = "of discharge, of an opening in the floor" },
    { .name = "source.storey", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 256, .list = true,
      .help = "storey of the source, the lowest is 1" },
    { .name = "source.at", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8,
      .list = true, .help = "its place" },
    { .name = "source.radius", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "cells within it share the source; at least the nearest one" },
    { .name = "source.rate", .type = BN_KEY_REAL, .unit = "m3 s-1", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "what it gives, unless a history says otherwise" },
    { .name = "drain.storey", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 256, .list = true,
      .help = "storey of the drain, the lowest is 1" },
    { .name = "drain.at", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8,
      .list = true, .help = "its place" },
    { .name = "drain.radius", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "cells within it share the drain; at least the nearest one" },
    { .name = "drain.rate", .type = BN_KEY_REAL, .unit = "m3 s-1", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "the most it takes, such as \"20 l/s\"; 0: as much as its grate lets through" },
    { .name = "drain.perimeter", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e4, .list = true,
      .help = "of the grate, over which water falls as over a weir (HEC-22); 0: the depth does not matter" },
    { .name = "drain.area", .type = BN_KEY_REAL, .unit = "m2", .def = 0, .min = 0, .max = 1e4, .list = true,
      .help = "of the grate's openings, which deep water goes through as through an orifice; 0: no limit" },
    { .name = "culvert.from", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8,
      .list = true, .help = "place of one end; water runs either way" },
    { .name = "culvert.to", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8,
      .list = true, .help = "place of the other end" },
    { .name = "culvert.from_storey", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 256, .list = true,
      .help = "storey of the one end, the lowest is 1" },
    { .name = "culvert.to_storey", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 256, .list = true,
      .help = "storey of the other end" },
    { .name = "culvert.width", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e3, .above = true, .list = true,
      .help = "of a barrel, a box; a pipe of diameter D carries about as much as a box of 0.89 D by 0.89 D" },
    { .name = "culvert.height", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e3, .above = true, .list = true,
      .help = "of a barrel" },
    { .name = "culvert.barrels", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 100, .list = true,
      .help = "beside each other" },
    { .name = "culvert.sills", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = 0, .max = 1e3,
      .list = true, .help = "heights of its floor over the ground, at the one end and at the other" },
    { .name = "culvert.length", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6, .list = true,
      .help = "of a barrel; 0: the distance of its ends" },
    { .name = "culvert.manning", .type = BN_KEY_REAL, .def = 0.013, .min = 0, .max = 1, .list = true,
      .help = "Manning's roughness of a barrel, in s m^(-1/3)" },
    { .name = "culvert.entrance", .type = BN_KEY_REAL, .def = 0.5, .min = 0, .max = 10, .list = true,
      .help = "velocity heads that are lost at the entrance (HDS-5, table C.2)" },
    { .name = "history.of", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_HISTORIES), .def_text = "source",
      .list = true, .help = "what changes with time: the discharge or level of a side, a source, or the rain" },
    { .name = "history.source", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 256, .list = true,
      .only = "history.of=source",
      .help = "which of [[source]], counted from 1" },
    { .name = "history.time", .type = BN_KEY_REAL, .unit = "s", .def = 0, .min = 0, .max = 1e9, .list = true,
      .help = "when the value is reached; straight lines lead from one row of a history to the next" },
    { .name = "history.value", .type = BN_KEY_REAL, .def = 0, .min = -1e6, .max = 1e6, .list = true,
      .help = "m3/s of a source, m2/s of an inflow, m of a level, mm/h of the rain" },
    { .name = "time.interval", .type = BN_KEY_REAL, .unit = "s", .def = 0, .min = 0, .max = 1e9,
      .help = "simulated time of a step of the run, which output.every and stop.steps count; it is hit exactly, "
              "by as many time steps as the waves need. 0: a hundredth of stop.time, or 1 s" },
    { .name = "time.dt_max", .type = BN_KEY_REAL, .unit = "s", .def = 0, .min = 0, .max = 1e9,
      .help = "longest time step, where there is hardly any water; 0: what waves of 2 m/s allow" },
    { .name = "solver.order", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 2,
      .help = "1: values are constant in each cell; 2: limited slopes along the axes of the cells, fluxes from the "
              "values half a time step later, which films on slopes need. 0: 2 with rain, else 1" },
    { .name = "solver.cfl", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 0.5,
      .help = "time step times the largest wave speed over grid.spacing; up to 0.375 no depth can become negative "
              "at first order. 0: 0.36, and 0.25 at second order" },
    { .name = "solver.dry", .type = BN_KEY_REAL, .unit = "m", .def = 1e-6, .max = 1, .above = true,
      .help = "water that is not deeper does not move" },
    { .name = "solver.edges", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(FLOOD_EDGES), .def_text = "once",
      .help = "on a device: compute the flux of an edge once, for both of its cells by local memory (of 48 KiB at "
              "least, else twice), or in each of the two; the bits are the same" },
    { .name = "solver.registers", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 255,
      .help = "registers that NVIDIA's compiler may give a work-item, 0: in single precision 56 for hexagons at first "
              "order, 80 for squares at second, with several blocks a work-group 64 for hexagons and 72 for squares "
              "there, else as many as it likes; fewer let more of them run at once; the bits are the same" },
    { .name = "solver.group_blocks", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 8,
      .help = "on a device: how many blocks of 256 x 4 cells above each other a work-group computes; 0: by itself 2 at "
              "second order where there are many, else 1; the bits are the same" },
    { .name = "solver.ahead", .type = BN_KEY_INT, .def = -1, .min = -1, .max = 4e9,
      .help = "cells of each device whose fluxes are computed before the time step is known, at most half of them, at "
              "first order without special cells and with one block a work-group: several GPUs do so while they agree "
              "on it. -1: by itself so many as take that time, 0 on one device and on CPUs; the bits are the same" },
    { .name = "solver.sums", .type = BN_KEY_CHOICE,
      .gone = "sums of depths are always compensated at first order" },
    { .name = "solver.blocks", .type = BN_KEY_CHOICE,
      .gone = "only blocks of cells with water in or beside them are computed; the bits are those of all blocks" },
    { .name = "solver.state", .type = BN_KEY_CHOICE, .gone = LAYOUT_STUDY },
    { .name = "solver.neighbours", .type = BN_KEY_CHOICE, .gone = LAYOUT_STUDY },
    { .name = "exact.within", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6,
      .help = "errors against the closed form are taken up to this distance from the middle; 0: everywhere" },
    { .name = "gauge.storey", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 256, .list = true,
      .help = "storey of a gauge" },
    { .name = "gauge.at", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1e8, .max = 1e8, .list = true,
      .help = "its place: gauges.csv has the depth of the nearest cell after each interval" },
    { .name = "gauge.name", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .help = "of its column, such as that of a door; empty: gauge_N" },
    { .name = "output.gauge_speeds", .type = BN_KEY_BOOL, .def = 0,
      .help = "write gauge_speeds.csv beside gauges.csv" },
    { .name = "output.outline", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e3,
      .help = "write outlines/flooded-storeyN-STEP.wkt at output times: polygons (WKT) around what is deeper than "
              "this; 0: no" },
    { .name = "output.ugrid", .type = BN_KEY_BOOL, .def = 0,
      .help = "write storeyN.nc: a mesh of each storey with depth and velocity at output times (UGRID NetCDF), for "
              "QGIS" },
    { .name = "output.epsg", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 1e6,
      .help = "code of the coordinate system, for storeyN.nc and TIFF; 0: that of the terrain, if it says" },
    { .name = "output.heights", .type = BN_KEY_BOOL, .def = 0,
      .help = "write heights.csv at the end: storey, place and height in centimetres of each wet cell" },
    { .name = "output.records", .type = BN_KEY_BOOL, .def = 0,
      .help = "keep for each cell when the water arrived, its largest depth, and the largest hazard rating depth "
              "(speed + 0.5 m/s)" },
    { .name = "output.deepest", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6,
      .help = "end of the colours for depths; 0: what there is" },
    { .name = "output.wet", .type = BN_KEY_REAL, .unit = "m", .def = 0.001, .max = 1e3, .above = true,
      .help = "depth from which on water has arrived" },
    { 0 },
};
/* clang-format on */

/* A sweep that hands on fluxes takes 38 KB of local memory in double precision, and of each block of a work-group
 * 4 KB; in single precision, which Mesa counts twice, half of that. */
static const uint64_t local_bytes_shared = 40 << 10, more_local_bytes = 4 << 10;
/* Of a work-item in single precision, as timed. NVIDIA's compiler by itself makes do with 40 for hexagons at first and
 * 64 for squares at second order, and puts fewer instructions side by side that don't wait for each other. For hexagons
 * at second order what it takes by itself is best with one block a work-group, a limit with several. */
static int choose_registers(const bn_case *c, const flood *s)
{
    const int wish = (int)bn_case_int(c, "solver.registers");
    const bool hexagons = s->grid.edges == 6, several = s->scheme.group_blocks > 1;
    if (wish > 0 || bn_case_double(c))
        return wish;
    if (s->scheme.order == 1)
        return hexagons ? 56 : 0;
    return hexagons ? (several ? 64 : 0) : several ? 72 : 80;
}

/* A block that is left out still costs its work-group, of the time of one that is computed: measured on a CPU; on GPUs
 * between what its instructions say, a tenth, and what the times of a mostly dry grid (docs/measurements.md), a third.
 */
static const double left_out_cpu = 0.02, left_out_gpu = 0.2;

static const bn_kernel_desc kernels[] = {
    { "flood_begin", BN_PER_BLOCK, { .reads = 4, .writes = 0, .flops = 6 } },
    /* additions and multiplications of hexagons; what second order adds to both stands in the first row */
    { "flood_predict", BN_PER_BLOCK, { .reads = 5, .writes = 3, .flops = 240 } },
    { "flood_rates", BN_PER_BLOCK, { .reads = 5, .writes = 3, .flops = 170 } },
    { "flood_advance", BN_PER_BLOCK, { .reads = 6, .writes = 4, .flops = 190 } },
    { 0 },
};

/* Two blocks a work-group spare a twentieth of the edges, which gains 4 to 10 % at second order, but
 * half as many groups must still keep the compute units busy until the end. At first order they gained less, and groups
 * in mostly dry land end later. */
static const double least_blocks_a_unit = 64;

static size_t choose_group_blocks(const bn_case *c, const flood *s, const bn_plan *p)
{
    const long long wish = bn_case_int(c, "solver.group_blocks");
    const bn_device_info *device = bn_plan_device(p);
    const double along_x = ceil(s->grid.nx / (double)BN_BLOCK_NX), along_y = ceil(s->grid.ny / (double)BN_BLOCK_NY);
    const double blocks = along_x * along_y * s->grid.storeys;
    if (wish > 0)
        return (size_t)wish;
    const bool many = device && blocks >= least_blocks_a_unit * device->compute_units * (double)bn_plan_shared_by(p);
    return s->scheme.order == 2 && many ? 2 : 1;
}

/* Several H200s take some 60 us to agree on a time step, in which each could compute the fluxes of three million cells;
 * but what is stored and read again takes 7 us a million longer, so that fewer are best. Not where a device has fewer
 * than those, since the calls for it take time, too; nor where it has many times as many, when there is little to gain,
 * for memory of a fourth more. */
static const double cells_ahead = 1.2e6, least_for_ahead = 1e6, most_for_ahead = 48e6;
static const double measured_copy = 4.18e12; /* copy bandwidth of these H200s [B/s]; slower ones do less meanwhile */

/* After all that takes memory has been announced. */
static uint32_t choose_ahead(const bn_case *c, const flood *s, const bn_plan *p)
{
    const long long wish = bn_case_int(c, "solver.ahead");
    const bn_device_info *device = bn_plan_device(p);
    const double cells = (double)s->grid.nx * s->grid.ny * s->grid.storeys, devices = (double)bn_plan_shared_by(p);
    const uint64_t bytes = (uint64_t)(3 * (bn_case_double(c) ? sizeof(double) : sizeof(float)) * 1.1 * cells);
    if (s->scheme.order != 1 || !s->scheme.shared || s->scheme.special || s->scheme.group_blocks > 1)
        return 0;
    if (wish >= 0)
        return (uint32_t)wish;
    if (!device || device->cpu || devices < 2 || cells < least_for_ahead * devices ||
        cells > most_for_ahead * devices || !bn_plan_has_room(p, bytes, bytes))
        return 0;
    return (uint32_t)(cells_ahead * (device->bandwidth > 0 ? device->bandwidth / measured_copy : 1));
}

static bn_status plan_fields(flood *s, bn_plan *p)
{
    flood_fields *f = &s->f;
    const unsigned state = BN_STATE | BN_OUTPUT | BN_COMPARE;
    const flood_scheme *m = &s->scheme;
    const struct {
        bool wanted;
        bn_field **out;
        bn_field_desc desc;
    } fields[] = {
        { true, &f->depth, { "depth", "m", BN_T_REAL, 1, state } },
        { true, &f->velocity, { "velocity", "m s-1", BN_T_REAL, 2, state } },
        { true, &f->bed, { "bed", "m", BN_T_REAL, 1, BN_OUTPUT } },
        { true, &f->cell, { "cell", "", BN_T_I32, 1, 0 } },
        { true, &f->next_depth, { "next_depth", "m", BN_T_REAL, 1, 0 } },
        { true, &f->next_velocity, { "next_velocity", "m s-1", BN_T_REAL, 2, 0 } },
        { s->scheme.order == 2, &f->half_depth, { "half_depth", "m", BN_T_REAL, 1, 0 } },
        { s->scheme.order == 2, &f->half_velocity, { "half_velocity", "m s-1", BN_T_REAL, 2, 0 } },
        { m->compensated, &f->rest, { "rest", "m", BN_T_REAL, m->soil ? 2 : 1, BN_STATE | BN_COMPARE } },
        { m->compensated, &f->next_rest, { "next_rest", "m", BN_T_REAL, m->soil ? 2 : 1, 0 } },
        { m->rain, &f->rain_share, { "rain_share", "", BN_T_REAL, 1, 0 } },
        { s->surface.covers, &f->land, { "land", "", BN_T_I32, 1, 0 } },
        { m->soil, &f->soaked, { "soaked", "m", BN_T_REAL, 1, state } },
        { m->soil, &f->next_soaked, { "next_soaked", "m", BN_T_REAL, 1, 0 } },
        { s->scheme.special, &f->outflow, { "outflow", "m", BN_T_REAL, 2, BN_STATE | BN_COMPARE } },
        { s->scheme.record, &f->arrival, { "arrival", "s", BN_T_REAL, 1, state } },
        { s->scheme.record, &f->deepest, { "depth_max", "m", BN_T_REAL, 1, state } },
        { s->scheme.record, &f->hazard, { "hazard_max", "m2 s-1", BN_T_REAL, 1, state } },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].wanted)
            BN_TRY(bn_plan_field(p, fields[i].out, &fields[i].desc));
    return BN_OK;
}

static bn_status plan_ahead(const bn_case *c, flood *s, bn_plan *p)
{
    s->scheme.ahead = choose_ahead(c, s, p);
    return s->scheme.ahead > 0 ? bn_plan_field(p, &s->f.rates, &(bn_field_desc){ "rates", "", BN_T_REAL, 3, 0 })
                               : bn_plan_skip_kernel(p, "flood_rates");
}

static bn_status plan_defines(const flood *s, bn_plan *p)
{
    const flood_scheme *m = &s->scheme;
    const char *const needs[] = { m->special ? "cells with a law of their own" : NULL,
                                  m->jagged ? "jagged walls" : NULL, m->friction ? "friction" : NULL,
                                  m->record ? "records" : NULL };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i])
            BN_TRY(bn_plan_needs(p, needs[i]));
    BN_TRY(bn_plan_constants(p, BN_CONSTANT_NAMES(FLOOD_CONSTANTS), (const double *)&s->k));
    BN_TRY(bn_plan_codes(p, BN_CODES(FLOOD_CODES)));
    return bn_plan_codes(p, (const bn_code[]){ { "ORDER", m->order },
                                               { "EDGES", s->grid.edges },
                                               { "SHARED", m->shared },
                                               { "GROUP_BLOCKS", (long long)m->group_blocks },
                                               { "AHEAD", m->ahead > 0 },
                                               { "FRICTION", m->friction },
                                               { "REST", m->compensated },
                                               { "RAIN", m->rain },
                                               { "SOIL", m->soil },
                                               { "LAND", s->surface.covers != NULL },
                                               { "SPECIALS", m->special },
                                               { "LINKS", m->links },
                                               { "CULVERTS", s->cells.culverts ? s->cells.items : 0 },
                                               { "JAGGED", m->jagged },
                                               { "RECORD", m->record },
                                               { "REGISTERS", m->registers },
                                               { NULL, 0 } });
}

static bn_status plan_series(const flood *s, bn_plan *p)
{
    (void)s;
    BN_TRY(bn_plan_series(p, "time_steps", ""));
    BN_TRY(bn_plan_series(p, "time_step", "s"));
    BN_TRY(bn_plan_series(p, "wave_speed", "m s-1"));
    BN_TRY(bn_plan_series(p, "volume", "m3"));
    return bn_plan_series(p, "wet_area", "m2");
}

/* A text that lives as long as the plan. */
static bn_status say(bn_plan *p, const char **out, const char *what, const char *between, uint32_t storey)
{
    enum { ROOM = 96 };
    char *text;
    BN_TRY(bn_plan_allocate(p, ROOM, (void **)&text));
    snprintf(text, ROOM, "%s%s%u", what, between, storey + 1);
    *out = text;
    return BN_OK;
}

/* Depth (speed + 0.5 m/s) without a term for debris, and what it means: Defra and Environment Agency, Flood Risks to
 * People, FD2320 (2005). The colours are ordered by lightness, too (C. Brewer's YlOrRd). */
static const bn_value_class hazard_classes[] = {
    { 0, 0xffffb2, "low" }, { 0.75, 0xfecc5c, "for some" }, { 1.25, 0xfd8d3c, "for most" }, { 2, 0xbd0026, "for all" }
};

/* Pictures of each storey, by number where there are several. */
static bn_status plan_pictures(const bn_case *c, const flood *s, bn_plan *p)
{
    const double wet = s->k.wet, deep = bn_case_real(c, "output.deepest");
    const struct {
        bool wanted;
        const char *field, *title, *quantity;
        double low, high;
        double blank_below;
        bool classes;
    } all[] = {
        { true, "depth", "Depth", "depth", 0, deep, wet, false },
        { s->scheme.record, "depth_max", "Largest depth", "largest depth", 0, deep, wet, false },
        { s->scheme.record, "hazard_max", "Danger by hazard rating", "largest hazard rating", 0, 2.5, 0.5 * wet, true },
        { s->scheme.soil, "soaked", "Infiltration", "infiltrated depth", 0, 0, 0, false },
        { s->scheme.record, "arrival", "Arrival of the water", "time of arrival", 0, 0, 0, false },
    };
    bn_drawing *drawing;
    BN_TRY(bn_plan_allocate(p, s->grid.storeys * sizeof *drawing, (void **)&drawing));
    for (uint32_t k = 0; k < s->grid.storeys; k++)
        BN_TRY(flood_draw_storey(c, p, s, k, &drawing[k]));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint32_t k = 0; all[i].wanted && k < s->grid.storeys; k++) {
            bn_picture_desc picture = { .name = all[i].field,
                                        .field = all[i].field,
                                        .title = all[i].title,
                                        .quantity = all[i].quantity,
                                        .map = BN_PICTURE_SEQUENTIAL,
                                        .low = all[i].low,
                                        .high = all[i].high,
                                        .blanks = true,
                                        .blank_below = all[i].blank_below,
                                        .hidden = s->cells.solid,
                                        .drawing = &drawing[k],
                                        .across = 2,
                                        .at = k };
            if (s->ground.terrain && k == 0) { /* lines of the ground's height */
                picture.contour_field = "bed";
                picture.contour_quantity = "bed level";
                picture.contour_count = 15;
            }
            if (all[i].classes) {
                picture.classes = hazard_classes;
                picture.class_count = sizeof hazard_classes / sizeof *hazard_classes;
            }
            if (s->grid.storeys > 1) {
                BN_TRY(say(p, &picture.name, all[i].field, "-storey", k));
                BN_TRY(say(p, &picture.title, all[i].title, ", storey ", k));
            }
            BN_TRY(bn_plan_picture(p, &picture));
        }
    return BN_OK;
}

/* The coordinates of the case are those of its terrain unless they are shifted. */
static void plan_map(const bn_case *c, const flood *s, bn_plan *p)
{
    const int epsg = (int)bn_case_int(c, "output.epsg");
    const bool same = s->ground.shift[0] == 0 && s->ground.shift[1] == 0;
    bn_plan_map(p, epsg == 0 && s->ground.terrain && same ? s->ground.terrain->epsg : epsg);
}

/* Meshes and outlines of each storey. */
static void plan_layers(const bn_case *c, const flood *s, bn_plan *p)
{
    static const char *const fields[] = { "depth", "velocity", NULL };
    const double above = bn_case_real(c, "output.outline");
    const bool mesh = bn_case_bool(c, "output.ugrid");
    if (mesh || above > 0)
        bn_plan_mesh_output(p, &(bn_plan_mesh_output_desc){ .name = "storey",
                                                            .hidden = s->cells.solid,
                                                            .mesh = mesh,
                                                            .fields = fields,
                                                            .outlined = above > 0 ? "depth" : NULL,
                                                            .above = above,
                                                            .outline = "flooded" });
}

static void read_sides(const bn_case *c, flood *s)
{
    static const char *const kind[] = { "boundary.left.kind", "boundary.right.kind", "boundary.bottom.kind",
                                        "boundary.top.kind" };
    static const char *const discharge[] = { "boundary.left.discharge", "boundary.right.discharge",
                                             "boundary.bottom.discharge", "boundary.top.discharge" };
    static const char *const level[] = { "boundary.left.level", "boundary.right.level", "boundary.bottom.level",
                                         "boundary.top.level" };
    static const char *const slope[] = { "boundary.left.slope", "boundary.right.slope", "boundary.bottom.slope",
                                         "boundary.top.slope" };
    for (int side = 0; side < FLOOD_SIDES; side++) {
        s->side[side].kind = (flood_border)bn_case_choice(c, kind[side]);
        s->side[side].discharge = bn_case_real(c, discharge[side]);
        s->side[side].level = bn_case_real(c, level[side]);
        s->side[side].slope = bn_case_real(c, slope[side]);
        if (s->side[side].kind == FLOOD_NORMAL && !(bn_case_real(c, "fluid.manning") > 0))
            (void)bn_case_reject(c, kind[side], "fluid.manning = 0.03", "without friction there is no normal depth");
        s->scheme.special = s->scheme.special || s->side[side].kind != FLOOD_WALL;
        if (s->side[side].kind != FLOOD_WALL && s->grid.periodic[side / 2])
            (void)bn_case_reject(c, kind[side], NULL, "the grid is periodic across this side");
    }
}

static bn_status read_grid(const bn_case *c, bn_plan *p, flood *s)
{
    s->grid.edges = bn_case_choice(c, "grid.kind") == FLOOD_HEXAGONS ? 6 : 4;
    s->grid.nx = (uint32_t)bn_case_int_at(c, "grid.cells", 0);
    s->grid.ny = (uint32_t)bn_case_int_at(c, "grid.cells", 1);
    s->grid.d = bn_case_real(c, "grid.spacing");
    s->grid.h[0] = s->grid.d;
    s->grid.h[1] = s->grid.edges == 6 ? s->grid.d * sqrt(0.75) : s->grid.d;
    s->grid.area = s->grid.h[0] * s->grid.h[1];
    for (size_t k = 0; k < 2; k++)
        s->grid.origin[k] = bn_case_real_at(c, "grid.origin", k);
    s->grid.periodic[0] = bn_case_bool(c, "grid.periodic_x");
    s->grid.periodic[1] = bn_case_bool(c, "grid.periodic_y");
    BN_TRY(flood_read_plans(c, p, s));
    s->grid.size[0] = s->grid.nx * s->grid.h[0];
    s->grid.size[1] = s->grid.ny * s->grid.h[1];
    if (s->grid.edges == 6 && s->grid.periodic[1] && s->grid.ny % 2 != 0)
        (void)bn_case_reject(c, "grid.cells", "add a row",
                             "%u rows of hexagons can't be followed by the first one: periodic_y needs an even number",
                             s->grid.ny);
    return BN_OK;
}

static void read_times(const bn_case *c, flood *s)
{
    const double stop = bn_case_real(c, "stop.time");
    s->scheme.interval = bn_case_real(c, "time.interval");
    if (s->scheme.interval == 0)
        s->scheme.interval = stop > 0 ? stop / 100 : 1;
    const double steps = stop / s->scheme.interval;
    if (fabs(steps - round(steps)) > 1e-6 * fmax(1, steps))
        (void)bn_case_reject(c, "time.interval", NULL, "%g s of stop.time are not a whole number of intervals of %g s",
                             stop, s->scheme.interval);
    s->k.dt_max = bn_case_real(c, "time.dt_max");
    if (s->k.dt_max == 0)
        s->k.dt_max = s->k.cfl_length / 2;
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    flood *s = state;
    BN_TRY(read_grid(c, p, s));
    const double manning = bn_case_real(c, "fluid.manning"), g = bn_case_real(c, "fluid.gravity");
    const double cfl = bn_case_real(c, "solver.cfl");
    s->scheme.order = (int)bn_case_int(c, "solver.order");
    s->scheme.rain = flood_rains(c);
    if (s->scheme.order == 0)
        s->scheme.order = s->scheme.rain ? 2 : 1;
    s->k = (flood_constants){
        .g = g,
        .dry = bn_case_real(c, "solver.dry"),
        .edge_per_area = s->grid.edges == 6 ? 2 / (3 * s->grid.d) : 1 / s->grid.d,
        .cfl_length = (cfl > 0                ? cfl
                       : s->scheme.order == 2 ? 0.25
                                              : 0.36) *
                      s->grid.d,
        .gn2 = g * manning * manning,
        .wet = bn_case_real(c, "output.wet"),
        .weir = sqrt(8.0 / 27 * g),
    };
    const bn_device_info *device = bn_plan_device(p);
    s->scheme.skipped_cost = device && device->cpu ? left_out_cpu : left_out_gpu;
    s->scheme.record = bn_case_bool(c, "output.records");
    read_times(c, s);
    read_sides(c, s);
    BN_TRY(flood_read_surface(c, p, s));
    BN_TRY(flood_read_terrain(c, p, s));
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    s->scheme.group_blocks = choose_group_blocks(c, s, p);
    s->scheme.shared = bn_case_choice(c, "solver.edges") == FLOOD_EDGES_ONCE &&
                       (!device ||
                        device->local_bytes >= local_bytes_shared + more_local_bytes * s->scheme.group_blocks);
    s->scheme.registers = choose_registers(c, s);
    s->scheme.values = s->scheme.special || s->scheme.rain || s->scheme.soil || s->surface.covers;
    double height = 1; /* from storey to storey, for pictures in space */
    if (s->grid.storeys > 1)
        height = bn_case_item_real(c, "storey.height", 1) - bn_case_item_real(c, "storey.height", 0);
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = s->grid.storeys > 1 ? 3 : 2,
                                       .n = { s->grid.nx, s->grid.ny, s->grid.storeys },
                                       .h = { s->grid.h[0], s->grid.h[1], s->grid.storeys > 1 ? height : 1 },
                                       .origin = { s->grid.origin[0] + (s->grid.edges == 6 ? 0.25 : 0.5) * s->grid.h[0],
                                                   s->grid.origin[1] + 0.5 * s->grid.h[1], 0 },
                                       .periodic = { s->grid.periodic[0], s->grid.periodic[1], false },
                                       .kind = s->grid.edges == 6 ? BN_HEXAGONAL : BN_CARTESIAN }));
    BN_TRY(bn_plan_halo(p, s->scheme.order));
    const double rates[2][2] = { { 62e9, 25e9 }, { 52.6e9, 17.4e9 } }; /* squares and hexagons, by order */
    bn_plan_scales(p, &(bn_plan_scaling){ .rate = rates[s->grid.edges == 6][s->scheme.order == 2],
                                          .along = 1,
                                          .exchanges = 1,
                                          .bytes = 12 * s->scheme.order,
                                          .face = 42e-6,
                                          .wait = 26e-6 });
    if (s->scheme.order == 1)
        BN_TRY(bn_plan_skip_kernel(p, "flood_predict"));
    BN_TRY(plan_fields(s, p));
    BN_TRY(plan_ahead(c, s, p));
    BN_TRY(plan_defines(s, p));
    BN_TRY(flood_plan_results(c, s, p));
    BN_TRY(plan_series(s, p));
    BN_TRY(plan_pictures(c, s, p));
    plan_map(c, s, p);
    plan_layers(c, s, p);
    BN_TRY(flood_plan_gauges(c, p, s));
    BN_TRY(bn_plan_note(p, "area of a cell", s->grid.area, "m2"));
    BN_TRY(bn_plan_note(p, "interval", s->scheme.interval, "s"));
    const double stop = bn_case_real(c, "stop.time");
    if (stop > 0)
        bn_plan_steps(p, ceil(stop / s->scheme.interval));
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state) { return flood_fill(sim, state); }

static double balance_limit(const bn_sim *sim, const void *state)
{
    (void)state;
    return bn_case_double(bn_sim_case(sim)) ? 1e-9 : 1e-3;
}

static const char *const selftest_constants[] = { "ORDER", "EDGES", "SHARED", "GROUP_BLOCKS", "AHEAD", "RAIN", NULL };

const bn_solver bn_solver_flood = {
    .name = "flood",
    .summary = "shallow water on hexagonal cells, through the storeys of a building",
    .schema = schema,
    .kernels = kernels,
    .program = "flood+flood_step",
    .state_size = sizeof(flood),
    .device = &flood_device_engine,
    .reference = { &bn_flood_reference_single, &bn_flood_reference_double },
    .plan = plan,
    .init = init,
    .measure = flood_measure,
    .serialize = flood_serialize,
    .selftest_constants = selftest_constants,
    .balance = "mass_error",
    .balance_limit = balance_limit,
};
