export { event, heading, line, paint, verbatim } from "./output.js";
export { prompt } from "./prompt.js";
export { nameOf, showCall } from "./show-tools.js";
export type { OwnNames } from "./tool-names.js";
