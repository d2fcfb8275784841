export { addProxyOptions } from "./proxy-command.js";
