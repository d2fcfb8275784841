export { LANGUAGES as default } from "../language/languages.js";
