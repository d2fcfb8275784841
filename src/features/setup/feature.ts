import { httpServer } from "src/platform/http-server";
import { setupFeature } from "./phone-setup.js";

/** Sets the device up with a phone. */
export default setupFeature(httpServer);
