/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* actions.c - what an enabling may ask for, checked before any of it runs; see program.h */
#include "engine/load/program.h"
#include "engine/types/actions.h"

static int refuse_action(struct dbk_reason *reason, uint32_t kind, const char *text)
{
	return dbk_refuse(reason, -EINVAL, "%s(): %s", dbk_action_name(kind), text);
}

static bool is_store_size(uint32_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static int check_value(const struct dbk_actdesc *action, struct dbk_reason *reason)
{
	const struct dif_type *type;

	if (action->difo == NULL)
		return refuse_action(reason, action->kind, "has no expression");
	type = &action->difo->type;
	if ((type->flags & DIF_TF_BYREF) == 0 && type->size != 0 && !is_store_size(type->size))
		return dbk_refuse(reason, -EINVAL, "%s(): a value of %u bytes cannot be stored",
				  dbk_action_name(action->kind), type->size);
	if (type->size > DBK_RECORD_BYTES_MAX)
		return dbk_refuse(reason, -E2BIG,
				  "%s(): a value of %u bytes, at most %u are stored",
				  dbk_action_name(action->kind), type->size, DBK_RECORD_BYTES_MAX);
	return 0;
}

static int check_integer(const struct dbk_actdesc *action, struct dbk_reason *reason)
{
	int error = check_value(action, reason);

	if (error == 0 && ((action->difo->type.flags & DIF_TF_BYREF) != 0 ||
			   !is_store_size(action->difo->type.size)))
		return refuse_action(reason, action->kind, "its argument is not an integer");
	return error;
}

static int check_stack(const struct dbk_actdesc *action, struct dbk_reason *reason)
{
	uint32_t depth = (uint32_t)action->arg;

	if (depth > DBK_STACKFRAMES_MAX)
		return dbk_refuse(reason, -E2BIG, "%s(): depth %u, at most %u frames are stored",
				  dbk_action_name(action->kind), depth, DBK_STACKFRAMES_MAX);
	return 0;
}

/* A tuple member: something that has a value of its own. */
static bool is_key_kind(uint32_t kind)
{
	switch (kind) {
	case DTRACEACT_DIFEXPR:
	case DTRACEACT_STACK:
	case DTRACEACT_USTACK:
	case DTRACEACT_JSTACK:
	case DTRACEACT_SYM:
	case DTRACEACT_MOD:
	case DTRACEACT_USYM:
	case DTRACEACT_UMOD:
	case DTRACEACT_UADDR:
		return true;
	default:
		return false;
	}
}

static int check_aggregation(const struct dbk_ecbdesc *desc, uint32_t index,
			     struct dbk_reason *reason)
{
	const struct dbk_actdesc *action = &desc->actions[index], *id;
	uint32_t i;

	if (action->tuple_count == 0 || action->tuple_count > index)
		return dbk_refuse(reason, -EINVAL,
				  "%s(): its tuple has %u members, %u actions are before it",
				  dbk_action_name(action->kind), action->tuple_count, index);
	id = action - action->tuple_count;
	if (id->kind != DTRACEACT_DIFEXPR || id->difo == NULL ||
	    id->difo->expr.kind != DBK_EXPR_CONST || id->difo->expr.constant == 0 ||
	    id->difo->expr.constant > 0xffffffffu)
		return refuse_action(reason, action->kind,
				     "its tuple does not start with an aggregation's id");
	for (i = 1; i < action->tuple_count; i++) {
		if (!is_key_kind(id[i].kind))
			return refuse_action(reason, id[i].kind, "cannot be a member of a key");
		if (id[i].kind == DTRACEACT_DIFEXPR && id[i].difo != NULL &&
		    id[i].difo->type.size == 0 && i != action->tuple_count - 1)
			return refuse_action(reason, action->kind,
					     "a member of its key has no size");
	}
	if (action->kind != DTRACEAGG_COUNT && action->difo == NULL)
		return refuse_action(reason, action->kind, "has no value");
	if (action->difo != NULL && (action->difo->type.flags & DIF_TF_BYREF) != 0)
		return refuse_action(reason, action->kind, "its value is not an integer");
	if (dbk_agg_cells(action->kind, action->arg) == 0)
		return dbk_refuse(reason, -EINVAL, "%s(): parameters 0x%x make no buckets",
				  dbk_action_name(action->kind), action->arg);
	return 0;
}

static int check_destructive(const struct dbk_actdesc *action, bool destructive,
			     struct dbk_reason *reason)
{
	if (!destructive)
		return refuse_action(reason, action->kind,
				     "is destructive, and option destructive is not set");
	/* Two are done by the printer: the engine only records them. */
	if (action->kind == DTRACEACT_SYSTEM || action->kind == DTRACEACT_FREOPEN)
		return check_value(action, reason);
	if (action->kind == DTRACEACT_RAISE || action->kind == DTRACEACT_CHILL)
		return check_integer(action, reason);
	return 0;
}

/* It becomes part of a file's name; the compiler has the same rule. */
static bool is_snapshot_name(const char *name)
{
	uint32_t bytes = 0;

	if (name == NULL || name[0] == '\0' || name[0] == '.')
		return false;
	for (; name[bytes] != '\0'; bytes++) {
		char c = name[bytes];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (bytes >= DBK_SNAPSHOT_NAME_MAX ||
		    !(letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
			return false;
	}
	return true;
}

static int check_snapshot(const struct dbk_actdesc *action, struct dbk_reason *reason)
{
	int error = check_integer(action, reason);

	if (error == 0 && action->difo->type.size != 8)
		return refuse_action(reason, action->kind, "its value is not of 8 bytes");
	if (error == 0 && !is_snapshot_name(action->text))
		return refuse_action(reason, action->kind, "its name is none that a file can have");
	return error;
}

/* What a replayed program can use as a value again: an integer or a string. */
static int check_capture(const struct dbk_actdesc *action, struct dbk_reason *reason)
{
	int error = check_value(action, reason);

	if (error == 0 && action->difo->type.kind != DIF_TYPE_STRING)
		error = check_integer(action, reason);
	return error;
}

static int check_action(const struct dbk_ecbdesc *desc, uint32_t index, bool destructive,
			struct dbk_reason *reason)
{
	const struct dbk_actdesc *action = &desc->actions[index];

	if (DTRACEACT_IS_AGG(action->kind))
		return check_aggregation(desc, index, reason);
	switch (action->kind) {
	case DTRACEACT_DIFEXPR:
	case DTRACEACT_PRINTF:
	case DTRACEACT_PRINTA:
	case DTRACEACT_LIBACT:
	case DTRACEACT_TRACEMEM:
	case DTRACEACT_PRINT:
		return check_value(action, reason);
	case DTRACEACT_SPECULATE:
	case DTRACEACT_COMMIT:
	case DTRACEACT_DISCARD:
	case DTRACEACT_EXIT:
	case DTRACEACT_SYM:
	case DTRACEACT_MOD:
	case DTRACEACT_USYM:
	case DTRACEACT_UMOD:
	case DTRACEACT_UADDR:
		return check_integer(action, reason);
	case DTRACEACT_STACK:
	case DTRACEACT_USTACK:
	case DTRACEACT_JSTACK:
	case DBK_ACT_CAPTURE_STACK:
	case DBK_ACT_CAPTURE_USTACK:
		return check_stack(action, reason);
	case DBK_ACT_CAPTURE:
		return check_capture(action, reason);
	case DTRACEACT_STOP:
	case DTRACEACT_RAISE:
	case DTRACEACT_SYSTEM:
	case DTRACEACT_FREOPEN:
	case DTRACEACT_BREAKPOINT:
	case DTRACEACT_PANIC:
	case DTRACEACT_CHILL:
		return check_destructive(action, destructive, reason);
	case DBK_ACT_SNAPSHOT:
		return check_snapshot(action, reason);
	case DTRACEACT_PCAP:
		return refuse_action(reason, action->kind, "not supported by this version");
	default:
		return dbk_refuse(reason, -EINVAL, "kind 0x%x does not exist",
				  (uint64_t)action->kind);
	}
}

/* Whether the action stores into the record. */
static bool is_recording(const struct dbk_actdesc *action)
{
	switch (action->kind) {
	case DTRACEACT_SPECULATE:
	case DTRACEACT_COMMIT:
	case DTRACEACT_DISCARD:
	case DTRACEACT_STOP:
	case DTRACEACT_RAISE:
	case DTRACEACT_BREAKPOINT:
	case DTRACEACT_PANIC:
	case DTRACEACT_CHILL:
		return false;
	case DTRACEACT_DIFEXPR:
		return action->difo->type.size != 0;
	default:
		return true;
	}
}

/* What stood before an action in its clause. */
struct order {
	bool speculates;
	bool commits;
	bool records; /* outside of a speculation */
};

/* Where the record goes is known before anything is stored, and what is committed is not a record
 * that is under way: the order that D asks for, with what D lets pass as well. */
static int check_order(struct order *order, const struct dbk_actdesc *action,
		       struct dbk_reason *reason)
{
	if (action->kind == DTRACEACT_SPECULATE &&
	    (order->speculates || order->commits || order->records))
		return refuse_action(reason, action->kind,
				     "comes after another speculate(), a commit() or a record");
	if (action->kind == DTRACEACT_COMMIT && (order->commits || order->records))
		return refuse_action(reason, action->kind,
				     "comes after another commit() or a record");
	if (order->speculates &&
	    (DTRACEACT_IS_AGG(action->kind) || action->kind == DTRACEACT_EXIT ||
	     action->kind == DBK_ACT_SNAPSHOT))
		return refuse_action(reason, action->kind, "comes after speculate()");
	if (order->commits && is_recording(action))
		return refuse_action(reason, action->kind, "comes after commit()");
	if (action->kind == DTRACEACT_SPECULATE)
		order->speculates = true;
	if (action->kind == DTRACEACT_COMMIT)
		order->commits = true;
	if (!order->speculates && is_recording(action))
		order->records = true;
	return 0;
}

int dbk_actions_check(const struct dbk_ecbdesc *desc, bool destructive, struct dbk_reason *reason)
{
	struct order order = {false, false, false};
	uint32_t i;
	int error;

	for (i = 0; i < desc->action_count; i++) {
		error = check_action(desc, i, destructive, reason);
		if (error == 0)
			error = check_order(&order, &desc->actions[i], reason);
		if (error != 0) {
			dbk_reason_prefix(reason, "action", i);
			return error;
		}
	}
	return 0;
}

bool dbk_program_names_users(const struct dbk_program *program)
{
	uint32_t i, j;

	for (i = 0; i < program->ecbdesc_count; i++)
		for (j = 0; j < program->ecbdescs[i].action_count; j++)
			switch (program->ecbdescs[i].actions[j].kind) {
			case DTRACEACT_USTACK:
			case DTRACEACT_JSTACK:
			case DTRACEACT_USYM:
			case DTRACEACT_UMOD:
			case DTRACEACT_UADDR:
			case DBK_ACT_CAPTURE_USTACK:
				return true;
			default:
				break;
			}
	return false;
}
