#include <zlib.h>

/// Swift cannot import the macro `deflateInit2`. 31 means the largest window and a gzip header and trailer (RFC 1952).
static inline int waybill_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
}
