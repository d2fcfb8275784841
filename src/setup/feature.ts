import { httpServer } from "src/platform/http-server";
import { openSetup, type Setup } from "./phone-setup.js";
import type { SetupOptions } from "./setup-options.js";

/** Sets the device up with a phone. */
export default (options: SetupOptions): Setup | undefined => openSetup(httpServer, options);
