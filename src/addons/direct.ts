import { httpServer } from "src/platform/http-server";
import type { Addons } from "../app/addons.js";
import { openDirect } from "../net/open-direct.js";

const direct: Addons["direct"] = (options) => openDirect(httpServer, options);
export default direct;
