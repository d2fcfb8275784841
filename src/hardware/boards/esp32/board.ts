import config from "mc/config";
import Time from "time";
import { FIRMWARE } from "../../../core/firmware.js";
import { inBuild } from "../../../platform/in-build.js";
import type { BoardData, BoardServices, OpeningBoard, OpenMember } from "../../board-data.js";
import { openEsp32 } from "../../drivers/open-esp32.js";
import type openEthernet from "../../drivers/open-ethernet.js";
import { openOptional } from "../../drivers/open-optional.js";

/** Members in the order in which they are opened: an expander or power chip may feed the others. */
const MEMBERS = Object.freeze(
	"outputs expander power display speaker microphone touch buttons leds head motion light rtc camera".split(" "),
) as readonly (keyof BoardData)[];

/** Opens a member, if the build has the module for it. A board without a part that does not answer starts, too. */
const openMember = (member: string, opening: OpeningBoard): void =>
	openOptional(opening.log, member, () => inBuild<OpenMember>(`src/hardware/drivers/open-${member}`)?.(opening));

/** Any ESP32, with the parts that the build's manifests describe as `config.board` and include. */
export const openBoard = (services: BoardServices) => {
	const { board: data = {} } = config as { readonly board?: BoardData };
	const opening: OpeningBoard = { ...services, data, board: {}, setTime: (seconds) => Time.set(seconds) };
	for (const member of MEMBERS.filter((each) => data[each] !== undefined)) {
		openMember(member, opening);
	}
	const open = (data.ethernet && inBuild<typeof openEthernet>("src/hardware/drivers/open-ethernet")) || openEsp32;
	const board = Object.assign(opening.board, open(FIRMWARE.board, opening));
	openMember("devkit", opening);
	return board;
};
