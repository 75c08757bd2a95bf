/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What inet_ntop() and link_ntop() tell apart: address families and hardware types of Linux; what
 * inet_ntoa() and inet_ntoa6() are given, under the names that scripts have for it.
 */

inline int AF_UNIX = 1;
inline int AF_INET = 2;
inline int AF_INET6 = 10;
inline int AF_NETLINK = 16;
inline int AF_PACKET = 17;
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;
inline int ARPHRD_LOOPBACK = 772;

typedef unsigned int ipaddr_t;
typedef struct in6_addr in6_addr_t;
