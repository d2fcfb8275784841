// A mod adds tools to a device whose firmware is already installed. See docs/mods.md.
import toggleLamp from "./toggle-lamp.js";

export default [toggleLamp];
