// npm run pack:firmware [FOLDER]: makes the packages xs-mcp and create-xs-mcp, and a tarball of each.
import { resolve } from "node:path";
import { makeProgram, runProgram } from "../toolchain/program.js";
import { packCreate, packFirmware } from "./firmware-package.js";

await runProgram(
	makeProgram("run pack:firmware", "Makes the packages xs-mcp and create-xs-mcp, and a tarball of each.")
		.argument("[folder]", "where they are made", "dist")
		.action(async (folder: string) => {
			await packFirmware(resolve(folder));
			await packCreate(resolve(folder));
		}),
);
