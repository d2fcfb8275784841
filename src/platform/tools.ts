import Modules from "modules";
import type { HardwareTool } from "../tools/define-tool.js";

/** Where tools are: each is a module in the folder of its part, `src/tools/PART/NAME`; those of a project, `tools/NAME`. */
const TOOLS = "src/tools/";
const PROJECT_TOOLS = "tools/";

/**
 * The tools of the build, in the order of their modules' names. That order stays the same, so that prompt caches of
 * language models stay valid.
 *
 * @throws Error if two modules define tools of the same name
 */
export const findTools = (): readonly HardwareTool[] => {
	const found = new Map<string, string>();
	const modules = Modules.host.filter(isTool).sort();
	return modules.map((module) => {
		const tool = Modules.importNow(module) as HardwareTool | undefined;
		if (typeof tool?.name !== "string") {
			throw new Error(`${module}: expected "export default defineTool({ … })"`);
		}
		const other = found.get(tool.name);
		if (other !== undefined) {
			throw new Error(`${other} and ${module} both define the tool ${tool.name}`);
		}
		found.set(tool.name, module);
		return tool;
	});
};

const isTool = (name: string): boolean =>
	name.startsWith(PROJECT_TOOLS) || (name.startsWith(TOOLS) && name.lastIndexOf("/") >= TOOLS.length);
