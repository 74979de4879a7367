#include <sqlite3.h>

// `sqlite3_config` and `sqlite3_db_config` are variadic, which Swift cannot call.

/// Has SQLite count no longer what all connections of the process allocate, for which each allocation of each thread
/// takes one lock. To be called before its first use; later it changes nothing.
static inline int waybill_sqlite3_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Keeps the last connection from checkpointing when it closes.
static inline int waybill_sqlite3_disable_checkpoint_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Keeps what stands in the schema of a file from calling functions that could do harm (`trusted_schema=OFF`), and
/// statements from writing into the file otherwise than by tables.
static inline int waybill_sqlite3_distrust_schema(sqlite3 *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    return code != SQLITE_OK ? code : sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}
