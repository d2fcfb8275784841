// Before the SDK makes its schemas: the page's policy forbids to compile code, and reports that Zod tries to.
import { config } from "zod/v4/core";

config({ jitless: true });
