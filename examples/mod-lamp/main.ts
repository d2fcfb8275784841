// A mod: tools that are added to a device that has its firmware already. docs/mods.md tells how.
import setLamp from "../set-lamp.js";

export default [setLamp];
