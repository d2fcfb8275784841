import { roots } from "../../src/mcp_server/features/roots.js";
import { defineTool, READS } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.folders",
	title: "Folders of the client",
	description: "List the folders that the client works on.",
	needs: [],
	annotations: READS,
	run: async (_args, _hardware, call) => {
		const folders = await roots(call);
		return folders.length === 0 ? "none" : folders.map(({ uri, name }) => name ?? uri).join(", ");
	},
});
