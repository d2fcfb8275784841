import Modules from "modules";
import { deepFreeze } from "../core/text/deep-freeze.js";
import type { HardwareTool } from "../tools/define-tool.js";

/** Folders of tools: each is a module in a folder, `src/tools/FOLDER/NAME`; those of a project, `tools/NAME`. */
const TOOLS = "src/tools/";
const PROJECT_TOOLS = "tools/";

/** The modules of the tools that the list begins with: those of every board, in the order of the C++ firmware. */
const FIRST: readonly string[] = deepFreeze([
	"src/tools/board/get-device-status",
	"src/tools/sound/set-volume",
	"src/tools/screen/set-brightness",
	"src/tools/screen/set-theme",
	"src/tools/camera/take-photo",
]);

/**
 * The tools of the build: the first ones, then the others in the order of their modules' names. That order stays the same, so
 * that prompt caches of language models stay valid.
 *
 * @param folders only those of the firmware in these folders. Default: all
 * @throws Error if two modules define tools of the same name
 */
export const findTools = (folders?: readonly string[]): readonly HardwareTool[] => {
	const found = new Map<string, string>();
	const isWanted = (module: string): boolean =>
		folders?.some((folder) => module.startsWith(`${TOOLS}${folder}/`)) !== false;
	const all = Modules.host.filter((module) => isTool(module) && isWanted(module)).sort();
	const modules = [...FIRST.filter((name) => all.includes(name)), ...all.filter((name) => !FIRST.includes(name))];
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
