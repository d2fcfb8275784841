// Runs the core of the C++ firmware on messages, for bench/cpp-core.ts.
// Arguments: the number of tools to list, and of rounds. Input: a round's messages, a line each.
// Output: the nanoseconds of a round, and the last answer.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include "device.h"
#include "mcp_server.h"

/** As Application and the protocol do it: the envelope is parsed, and its payload is handed on. */
static void receive(const std::string& text) {
	auto root = cJSON_Parse(text.c_str());
	auto type = cJSON_GetObjectItem(root, "type");
	if (cJSON_IsString(type) && std::string(type->valuestring) == "mcp") {
		auto payload = cJSON_GetObjectItem(root, "payload");
		if (cJSON_IsObject(payload)) {
			McpServer::GetInstance().ParseMessage(payload);
		}
	}
	cJSON_Delete(root);
	Application::GetInstance().RunScheduled();
}

/** As large as `extraTool` of bench/server.ts. */
static void addTools(int from, int count) {
	for (auto at = from; at < count; ++at) {
		McpServer::GetInstance().AddTool(
			"self.bench.tool_" + std::to_string(at),
			"A tool of about the size that tools have: a sentence or two of what it does, and when to use it.",
			PropertyList({Property("level", kPropertyTypeInteger, 0, 100), Property("note", kPropertyTypeString, std::string())}),
			[](const PropertyList&) -> ReturnValue { return true; });
	}
}

int main(int, char** arguments) {
	constexpr int own_tools = 3;
	McpServer::GetInstance().AddCommonTools();
	addTools(own_tools, std::atoi(arguments[1]));
	McpServer::GetInstance().AddUserOnlyTools();
	const auto rounds = std::atoi(arguments[2]);
	std::vector<std::string> texts;
	for (std::string line; std::getline(std::cin, line);) {
		texts.push_back(line);
	}
	const auto begin = std::chrono::steady_clock::now();
	for (auto round = 0; round < rounds; ++round) {
		for (const auto& text : texts) {
			receive(text);
		}
	}
	const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
	std::cout << took.count() / rounds << '\n' << Application::GetInstance().last << '\n';
}
