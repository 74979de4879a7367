#if Collector
import Hummingbird
#endif
