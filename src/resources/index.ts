import { deepFreeze } from "../text/deep-freeze.js";
import cameraPicture from "./camera-picture.js";
import type { HardwareResource } from "./define-resource.js";
import deviceState from "./device-state.js";
import screenPicture from "./screen-picture.js";

/** Every resource of the firmware, in the order of the list. */
export const RESOURCES: readonly HardwareResource[] = deepFreeze([deviceState, screenPicture, cameraPicture]);
