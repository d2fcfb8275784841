import Modules from "modules";
import type { HardwareTool } from "../tools/define-tool.js";

/** Folders of tools, in the firmware and in a project. Each module there is a tool, except the one that defines tools. */
const TOOLS: readonly string[] = Object.freeze(["src/tools/", "tools/"]);
const NO_TOOL = "src/tools/define-tool";

/** First tools in the list: the C++ firmware's in its order, then long-standing ones of this project. */
const FIRST: readonly string[] = Object.freeze([
	"self.get_device_status",
	"self.audio_speaker.set_volume",
	"self.screen.set_brightness",
	"self.screen.set_theme",
	"self.camera.take_photo",
	"self.screen.set_emotion",
	"self.screen.show_text",
]);

/**
 * The tools of the build: the first ones, then the others by name. The order stays the same, so that prompt caches of
 * language models stay valid.
 *
 * @param wanted modules of the tools. Default: all
 * @throws Error if two modules define tools of the same name
 */
export const findTools = (wanted?: readonly string[]): readonly HardwareTool[] => {
	const found = new Map<string, HardwareTool>();
	const modules = Modules.host.filter((module) => isTool(module) && wanted?.includes(module) !== false).sort();
	for (const module of modules) {
		const tool = Modules.importNow(module) as HardwareTool | undefined;
		if (typeof tool?.name !== "string") {
			throw new Error(`${module}: expected "export default defineTool({ … })"`);
		}
		const known = found.get(tool.name);
		if (known !== undefined) {
			const other = modules.find((each) => Modules.importNow(each) === known);
			throw new Error(`${other} and ${module} both define the tool ${tool.name}`);
		}
		found.set(tool.name, tool);
	}
	const others = [...found.keys()].filter((name) => !FIRST.includes(name)).sort();
	return [...FIRST, ...others].map((name) => found.get(name)).filter((tool) => tool !== undefined);
};

const isTool = (module: string): boolean => module !== NO_TOOL && TOOLS.some((folder) => module.startsWith(folder));
