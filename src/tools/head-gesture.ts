import { ACTS, defineTool, enumeration } from "./define-tool.js";

export default defineTool({
	name: "self.head.gesture",
	title: "Head gesture",
	description: "Nod (yes) or shake (no) your head. It ends where it was. False: another movement has ended it.",
	annotations: ACTS,
	needs: ["head"],
	input: { gesture: enumeration(["nod", "shake"]) },
	run: ({ gesture }, { head }) => head.gesture(gesture),
});
