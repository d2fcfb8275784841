import { httpServer } from "src/platform/http-server";
import type { Addons } from "../app/addons.js";
import { openSetup } from "../connect/open-setup.js";

const setup: Addons["setup"] = (options) => openSetup(httpServer, options);
export default setup;
