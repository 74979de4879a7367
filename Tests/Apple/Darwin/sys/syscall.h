#include "../linux/futex.h"
