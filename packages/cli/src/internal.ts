/** For the tests of this repository alone. */
export { type GivenOptions, type Invocation, outlineOf, parseInvocation } from "./arguments.ts";
export { clusterOptions, nodeSpecs } from "./cluster/clusterOptions.ts";
export { settleNodeCount } from "./cluster/clusterRecord.ts";
export { expectFreePorts } from "./cluster/freePorts.ts";
export { jsonReporter } from "./cluster/jsonReporter.ts";
export { lineReporter, type ReporterOutput, readableLog } from "./cluster/lineReporter.ts";
export { liveTable, nodeTable } from "./cluster/liveTable.ts";
export {
  lineReader,
  type NodeProcess,
  type NodeProcessHandlers,
  type NodeSpec,
  type StartNode,
} from "./cluster/nodeProcess.ts";
export { restartDelayMs, stableAfterMs } from "./cluster/restartDelay.ts";
export { Supervisor } from "./cluster/supervisor.ts";
export type { NodeView, SupervisorEvent } from "./cluster/supervisorEvents.ts";
export { lockDataDir } from "./cluster/supervisorLock.ts";
export { connectionOptions, localEndpoints } from "./commands/clusterConnection.ts";
export { isHealthy, nodeDirectories, reportLines, requireOneNode } from "./commands/doctorCommand.ts";
export { pairAsJson } from "./commands/getCommand.ts";
export { pageAsJson, pairAsLine } from "./commands/listCommand.ts";
export { valueFrom, writeCondition } from "./commands/putCommand.ts";
export { statusAsJson, statusLines } from "./commands/statusCommand.ts";
export { type CommandName, commandTable, type OptionName, optionTable } from "./commandTable.ts";
export { chapters, type Outcome as ChapterOutcome } from "./demo/billing/chapters.ts";
export { type TimelineEvent, timelineLines } from "./demo/billing/timeline.ts";
export { CommandFailure, exitCodeMeanings, exitCodeOf, exitCodes, sentenceOf } from "./exitCodes.ts";
export { helpText } from "./help.ts";
export { type Ending, type Holding, runGuarded } from "./lease/guardedChild.ts";
export { parseConfig, readConfigFile } from "./node/configFile.ts";
export { collectOnOwnThread, collectorFlags, nodeExecArgv } from "./node/garbageCollection.ts";
export { nodeEnvironment } from "./node/memoryAllocation.ts";
export { summarize } from "./node/nodeCommand.ts";
export { nodeLogger } from "./node/nodeLogger.ts";
export type { NodeMessage, NodeSummary } from "./node/nodeMessages.ts";
export { type NodeOptions, nodeOptions } from "./node/nodeOptions.ts";
export { reportStatus } from "./node/supervisorLink.ts";
export { durationOption, integerOption, parseEndpoints, parsePeers } from "./optionValues.ts";
export { failureLines } from "./sim/failureReport.ts";
export { runSeeds } from "./sim/seedPool.ts";
export type { SeedOutcome } from "./sim/seedRun.ts";
export { listLines } from "./sim/simList.ts";
export { requireOwnOperations, simOptions } from "./sim/simOptions.ts";
export { SimTally } from "./sim/simTally.ts";
export { textTable } from "./textTable.ts";
export { UsageError } from "./usageError.ts";
