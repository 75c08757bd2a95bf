/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider dtaudit: a record, as it is sent to auditd.
 */

typedef struct auditrecord {
	int ar_type;			/* AUDIT_* of linux/audit.h */
	string ar_text;			/* "audit(1700000000.123:45): ..." */
} auditrecord_t;

/* After the header of a netlink message. */
translator auditrecord_t < struct audit_buffer *B > {
	ar_type = ((struct nlmsghdr *)B->skb->data)->nlmsg_type;
	ar_text = stringof((char *)B->skb->data + 16);
};

provider dtaudit {
	probe commit(struct audit_buffer *B) : (auditrecord_t *B);
};
