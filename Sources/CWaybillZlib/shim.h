#include <zlib.h>

/// `deflateInit2` is a macro, which Swift does not see. 31: the largest window, and gzip's header and trailer (zlib.h, RFC 1952).
static inline int waybill_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
}
