#include <sqlite3.h>

// `sqlite3_config` and `sqlite3_db_config` are variadic, and Swift cannot call variadic functions.

/// Turns off SQLite's memory statistics, which take a lock for each allocation. It has no effect after SQLite's first
/// use.
static inline int waybill_sqlite3_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Keeps the last connection from checkpointing when it closes.
static inline int waybill_sqlite3_disable_checkpoint_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Stops a file's schema from calling unsafe functions (`trusted_schema=OFF`), and statements from corrupting the file.
static inline int waybill_sqlite3_distrust_schema(sqlite3 *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    return code != SQLITE_OK ? code : sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}
