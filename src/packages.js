// What `mcpack mcconfig …` starts from: the npm packages that are built into the firmware, then the firmware. Plain
// mcconfig ignores this file. A package is added by a line that names it,
//
//   export { default as mitt } from "mitt";
//
// a tool imports it by that name, and the manifest's modules say where its types are:
//
//   "mitt": "./node_modules/mitt/index.d.ts"
//
// The firmware is imported at run time, because mcpack looks for every other import among packages.
await import("src/main");
