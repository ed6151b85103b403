# Builds the two C++ modules, dlc._runtime and dlc._compiler, for the Python of Python_EXECUTABLE, into `folder`. Used by the everyday build and by
# the wheel (wheel/CMakeLists.txt). dlc._compiler links LLVM, so that dlc loads it only to compile.
function(dlc_python_modules folder runtime compiler)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind 3.1 REQUIRED CONFIG)
  set(nanobind_DIR ${nanobind_DIR} PARENT_SCOPE)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  get_filename_component(root ${here}/../.. ABSOLUTE)
  nanobind_add_module(dlc_python_runtime NOMINSIZE NB_SUPPRESS_WARNINGS
    ${here}/device/Bindings.cpp ${here}/device/Deferred.cpp ${here}/device/DeviceArray.cpp ${here}/device/Memory.cpp ${here}/device/Streams.cpp
    ${here}/Carrier.cpp ${here}/ResultMemory.cpp ${here}/Results.cpp ${here}/Runner.cpp ${here}/Runtime.cpp ${here}/Sessions.cpp ${here}/Value.cpp ${here}/View.cpp
    ${here}/Watch.cpp ${here}/World.cpp ${root}/tools/dlc/report/Graph.cpp)
  nanobind_add_module(dlc_python_compiler NOMINSIZE NB_SUPPRESS_WARNINGS ${here}/Compiler.cpp ${here}/Quantize.cpp)
  target_link_libraries(dlc_python_runtime PRIVATE ${runtime})
  target_link_libraries(dlc_python_compiler PRIVATE ${compiler} ${runtime})
  foreach(module runtime compiler)
    target_include_directories(dlc_python_${module} PRIVATE ${root} ${root}/runtime/include ${root}/passes/include ${root}/tools/compiler/include)
    # Optimized in every build type, since a call takes microseconds.
    target_compile_options(dlc_python_${module} PRIVATE -O2)
    set_target_properties(dlc_python_${module} PROPERTIES OUTPUT_NAME _${module} LIBRARY_OUTPUT_DIRECTORY ${folder} CXX_VISIBILITY_PRESET hidden)
  endforeach()
endfunction()
