import type { Feature } from "../app/application.js";
import { Voice } from "./voice.js";

/** Speech to and from the backend, for a board with a codec. */
const voice: Feature = {
	name: "voice",
	after: ["parts"],
	start(app) {
		const { codec } = app.board;
		if (codec !== undefined) {
			app.audio = codec.params;
			app.listen(new Voice(app, codec));
		}
	},
};

export default voice;
