// A server with a resource. Its manifest includes "$(XS_MCP)/src/mcp_server/features/manifest_resources.json", too.
import { FeatureServer } from "src/mcp_server/features/feature-server";
import { createResource, Resources } from "src/mcp_server/features/resources";

interface Room {
	target: number;
}

const target = createResource({
	uri: "room://target",
	name: "target",
	description: "The temperature that the heating keeps.",
	mimeType: "application/json",
	read: (_variables, room: Room) => ({ celsius: room.target }),
});

const options = { name: "thermostat", version: "1.0.0", context: { target: 20 } };

export default new FeatureServer<Room>([new Resources([target])], options);
