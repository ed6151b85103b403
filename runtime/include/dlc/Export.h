//===- Export.h - symbol visibility of the shared library --------------------===//
#ifndef DLC_EXPORT_H
#define DLC_EXPORT_H

/// The library is built with hidden visibility. Only symbols with this attribute are exported.
#define DLC_EXPORT __attribute__((visibility("default")))

#endif // DLC_EXPORT_H
