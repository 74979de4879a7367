#if Collector
import ArgumentParser
import Hummingbird
#endif
