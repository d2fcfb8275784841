import { SUITES } from "../suites/index.js";

trace(`${SUITES.length}\n`);
