/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider mib: by how much each counter goes up.
 */

provider mib {
	probe tcpActiveOpens(uint64_t by);
	probe tcpPassiveOpens(uint64_t by);
	probe tcpAttemptFails(uint64_t by);
	probe tcpEstabResets(uint64_t by);
	probe tcpInSegs(uint64_t by);
	probe tcpOutSegs(uint64_t by);
	probe tcpRetransSegs(uint64_t by);
	probe tcpOutRsts(uint64_t by);
	probe udpInDatagrams(uint64_t by);
	probe udpOutDatagrams(uint64_t by);
	probe ipInReceives(uint64_t by);
	probe ipInDelivers(uint64_t by);
	probe ipOutRequests(uint64_t by);
	probe ipForwDatagrams(uint64_t by);
	probe ipReasmReqds(uint64_t by);
	probe icmpInMsgs(uint64_t by);
	probe icmpInDestUnreachs(uint64_t by);
	probe icmpInEchos(uint64_t by);
	probe icmpOutMsgs(uint64_t by);
	probe icmpOutDestUnreachs(uint64_t by);
	probe icmpOutEchoReps(uint64_t by);
};
