import type { Feature } from "../../core/listener.js";
import { mainButtonOf } from "../../hardware/kinds/button.js";
import { AssistantLine } from "./assistant-line.js";
import { ButtonQuestions } from "./button-questions.js";
import { DeviceEvents } from "./device-events.js";
import { Notice } from "./notice.js";
import { StoredReminders } from "./stored-reminders.js";

/** Talks with the backend's assistant by text, and reports the device's events to it. */
export default {
	name: "conversation",
	after: ["language", "parts"],
	start(app) {
		const { board } = app;
		const { screen, settings, buttons } = board;
		const mainButton = mainButtonOf(buttons);
		const assistant = new AssistantLine(app);
		const questions =
			screen !== undefined && mainButton !== undefined ? new ButtonQuestions(app, mainButton) : undefined;
		const reminders = settings && new StoredReminders(app, settings);
		Object.assign(board, { assistant }, questions && { questions }, reminders && { reminders });
		// A press ends an alarm before it answers a question, and is an event only if it does neither.
		app.listen(new Notice(app), reminders, questions);
		app.listen(app.setting("events").length > 0 && new DeviceEvents(app, assistant), assistant);
	},
} satisfies Feature;
