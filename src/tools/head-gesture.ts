import { ACTS, defineTool, enumeration } from "./define-tool.js";

export default defineTool({
	name: "self.head.gesture",
	title: "Head gesture",
	description:
		"Nod (yes) or shake (no) your head, which ends where it was. Returns false if another movement interrupted it.",
	annotations: ACTS,
	needs: ["head"],
	input: { gesture: enumeration(["nod", "shake"]) },
	run: ({ gesture }, { head }, call) => head.gesture(gesture, (delay) => call.sleep(delay)),
});
