#if Hummingbird
import CryptoExtras
import Hummingbird
#endif
