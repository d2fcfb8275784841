import type { Addons } from "../app/addons.js";
import { Conversation } from "../conversation/conversation.js";

const conversation: Addons["conversation"] = (options) => new Conversation(options);
export default conversation;
