export { openImprov as default } from "../connect/open-improv.js";
