#include <sqlite3.h>

/// Keeps the last connection from checkpointing when it closes. (`sqlite3_db_config` is variadic, which Swift cannot call.)
static inline int waybill_sqlite3_disable_checkpoint_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
