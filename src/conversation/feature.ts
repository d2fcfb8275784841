import type { Feature } from "../app/application.js";
import { Conversation } from "./conversation.js";

/** Talks with the backend's assistant by text. */
const conversation: Feature = {
	name: "conversation",
	after: ["language", "parts"],
	start(app) {
		const conversation = new Conversation(app);
		Object.assign(app.board, conversation.parts);
		app.listen(conversation);
	},
};

export default conversation;
