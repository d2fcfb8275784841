import type { ConversationOptions } from "./backend-link.js";
import { Conversation } from "./conversation.js";

/** Talks with the backend's assistant by text. */
export default (options: ConversationOptions): Conversation => new Conversation(options);
