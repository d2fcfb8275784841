// A mod: tools that are added to a device that has its firmware already. docs/mods.md tells how.
import toggleLamp from "./toggle-lamp.js";

export default [toggleLamp];
