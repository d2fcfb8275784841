import { httpServer } from "src/platform/http-server";
import { openSetup, type Setup, type SetupOptions } from "./open-setup.js";

/** Sets the device up with a phone. */
export default (options: SetupOptions): Setup | undefined => openSetup(httpServer, options);
