import { inBuild } from "../../platform/in-build.js";
import { rulesFeature } from "./rules.js";

/** Handlers of the module `device`, and rules of clients. */
export default rulesFeature(() => inBuild("device"));
