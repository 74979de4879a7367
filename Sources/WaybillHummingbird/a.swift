#if Hummingbird
import Hummingbird
#endif
