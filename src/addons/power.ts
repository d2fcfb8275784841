export { openPower as default } from "../power/open-power.js";
