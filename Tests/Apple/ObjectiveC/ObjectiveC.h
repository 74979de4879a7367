// The root class, with the members in use.
@protocol NSObject
- (_Bool)respondsToSelector:(SEL _Null_unspecified)selector;
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject>
- (instancetype _Nonnull)init;
- (id _Nullable)forwardingTargetForSelector:(SEL _Null_unspecified)selector;
- (id _Nonnull)copy;
- (id _Nonnull)mutableCopy;
@end
