import { date, email, matching, titledEnumeration } from "../../src/mcp_server/features/schemas.js";
import { ACTS, defineTool, string } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.visit.announce",
	title: "Announce a visitor",
	description: "Announce a visitor.",
	needs: [],
	annotations: ACTS,
	input: {
		on: date({ description: "The day of the visit" }),
		mail: email(),
		plate: matching("^[A-Z]{1,3}-[0-9]{1,4}$", { description: "License plate" }),
		gate: titledEnumeration({ n: "North gate", s: "South gate" }, { default: "n" }),
		region: string({ "x-mcp-header": "Region" }),
	},
	run: ({ on, gate }) => `expected on ${on} at gate ${gate}`,
});
