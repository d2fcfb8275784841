// A server with a resource. Its manifest includes "$(XS_MCP)/src/mcp_server/features/manifest_resources.json", too.
import { FeatureSet } from "src/mcp_server/features/feature-set";
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

/** The features that clients may use besides tools. */
const features = new FeatureSet<Room>([new Resources({ resources: [target] })]);

export default features.serve({ name: "thermostat", version: "1.0.0", context: { target: 20 }, tools: [] });
